"""Whether a number that somebody says is another one, rounded."""

from decimal import Context, Decimal

EXACT = Context(prec=1000)  # a number of any size has room, to the last digit of the smallest
LEAST_DIGITS = 2  # one digit, such as 0.5 or 300, meets many numbers by chance


def is_rounded(said: object, meant: object) -> bool:
    """Return whether a number is another one rounded to the digits that it is said with.

    Zeros at its end say nothing about how far it was rounded: 300 has one digit.

    """
    if not (_is_number(said) and _is_number(meant)):
        return False
    short, whole = Decimal(repr(said)).normalize(), Decimal(repr(meant))
    if not (short.is_finite() and whole.is_finite()):
        return False
    if len(short.as_tuple().digits) < LEAST_DIGITS or abs(short) > 2 * abs(whole) + 1:
        return False
    return whole.quantize(Decimal(1).scaleb(int(short.as_tuple().exponent)), context=EXACT) == short


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
