"""In and out of learning systems: collect a download of hand-ins, write grades for an import.

unpack: a download's files, safely, into a private folder. claims: what a file's place and name say.
class_list, members: who is in the class, under which ids. corrections: who is who, and who
left. matching: files to students. storing, leftovers: hand-ins into submitted/, and what was not
collected into a folder of its own. collecting: all of these, for one download.

tables: what the gradebook holds, as plain CSV and for Moodle. canvas_table: for Canvas.
feedback: pages in the shape of the download that they answer.
"""
