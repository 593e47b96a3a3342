"""The gradebook's database: a SQLite file of one instructor, or PostgreSQL for several."""
