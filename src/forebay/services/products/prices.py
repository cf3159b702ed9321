"""Reads prices and quantities in the notations of many countries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias

from forebay.services.products.currencies import CODES, find_mention, has_sign, places
from forebay.services.products.price_texts import PERCENT, PriceContext, one_of, read_price_context
from forebay.services.products.superscripts import check_digits, to_plain_digits
from forebay.services.products.texts import Unreadable, clean, fold, latin_digits, shown

Mark: TypeAlias = Literal[".", ","]

MOST = Decimal(10_000_000_000)
_LONGEST = 1600  # characters that are read
_FINEST = Decimal("0.000001")
_DASH = r"[-\u2010-\u2015\u2212]"
# After a letter a mark ends an abbreviation, as in Rs.500; likewise before a number with its own marks.
_NUMBER = re.compile(r"\d(?:[\d.,' ]*\d)?|(?<![^\W_])[.,]\d+(?![\d' ]*[.,]\d)")
_DASHED = re.compile(rf"(?<=\d)[.,:;/]\s?(?:{_DASH}{{1,2}}|=)(?=$|[^\d])")  # 12,- and 12.- and 12:- and 12/-
_SPLIT = re.compile(r"(?<![\d.,'])(\d+(?:[.' ]\d{3})*)([^\w\s.,'])\s?(\d\d)(?![\d.,' ]*\d)")  # 12€50
_MINUS_BEFORE = re.compile(rf"(?<![^\W\d_]){_DASH}|{_DASH}(?![^\W\d_])")
_MINUS_AFTER = re.compile(rf"^{_DASH}|{_DASH}$")
_BROKEN = re.compile(r"[.,]\d+[' ][\d' ]*$")  # a space among the digits after the last mark
_EXACT = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?", re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(?:x|pcs?|pieces?|units?|stk|stuck|st|szt|uds?|pzs?|pezzi|pieces?|items?|ea|each|pack|packs|boxes|box)\b\.?|[x\u00d7()]"
)
_MARKS = {0x2019: "'", 0x2018: "'", 0xB4: "'", 0x60: "'", 0x66C: "'"}
_DECIMAL_MARK = "\u066b"  # the Arabic decimal mark, never a thousands separator


class Price(NamedTuple):
    """An amount, its currency if known, and what was guessed, if anything."""

    amount: Decimal
    currency: str | None = None
    guessed: str | None = None
    codes: tuple[str, ...] = ()  # all meanings of the currency's symbol
    has_words: bool = False  # ignored words

    @property
    def is_plain(self) -> bool:
        """Whether it is only a number with a currency."""
        return self.currency is not None and not self.has_words

    def text(self, currency: str | None = None) -> str:
        """The normalized amount, with at least the decimals of its currency."""
        least = places(self.currency or currency)
        whole, _, rest = f"{self.amount:f}".partition(".")
        rest = rest.rstrip("0").ljust(least, "0")
        if len(rest) == 3 and least < 3:
            rest += "0"  # 12.345 could be read as 12,345
        return f"{whole}.{rest}" if rest else whole


def read_price(value: object, *, mark: Mark | None = None, currency: str | None = None) -> Price:
    """Read the price in a cell; `mark` and `currency` are those of its column or row, if the cell is ambiguous.

    A number (int, float, Decimal) is used unchanged; `mark` is for texts.

    Raises: Unreadable.
    """
    if not isinstance(value, str):
        text = clean(value, 200)
        return _checked(Price(_exact(text)), text)
    lowered = to_plain_digits(value[:_LONGEST])
    check_digits(lowered.text)
    text = clean(lowered.text, 200)
    body, percents = _prepared(text)
    if _DECIMAL_MARK in body:
        body, mark = body.replace(",", "'").replace(_DECIMAL_MARK, ","), ","
    number, before, after = _only_number(body, text)
    if _is_negative(before, after):
        raise Unreadable(f"{shown(text)} is negative")
    context = read_price_context(before, after, text, percents=percents)
    told = context.currency(currency)
    amount, guessed = _amount(number, mark, told or currency)
    notes = [*([guessed] if guessed else []), *_notes(context, told, currency, text)]
    if context.hundredths:
        amount, note = _of_hundredths(amount, number, context, text)
        notes += [note] if note else []
    notes += [f"the superscript {shown(each)} was ignored as a footnote" for each in lowered.footnotes]
    return _checked(Price(amount, told, "; ".join(notes) or None, context.codes, bool(context.ignored)), text)


def _of_hundredths(amount: Decimal, number: str, context: PriceContext, text: str) -> tuple[Decimal, str | None]:
    """The price in the main unit if cents are named: 99 cents are 0.99, but $0.99 with a cent sign is not a hundredth
    of that."""
    is_whole = not set(number) & set(".,")
    if is_whole and not context.has_major_sign:
        return amount / 100, None
    if not is_whole and context.has_major:
        return amount, f"{shown(text)} was read as {amount:f}, not as hundredths"
    raise Unreadable(
        f"{shown(text)} may be {amount:f} or {(amount / 100).normalize():f}: write it in the unit of its currency"
    )


def _notes(context: PriceContext, told: str | None, stated: str | None, text: str) -> Iterable[str]:
    if len(context.codes) > 1 and stated not in context.codes:
        if told is None:
            yield f"{shown(text)} may be {one_of(context.codes)}: name the currency"
        elif not context.is_usual:
            yield f"{shown(text)} was read as {told}, but may be {one_of(context.codes[1:])}: name the currency"
    if context.lowest:
        yield f"{shown(text)} is the lowest of several prices"
    if context.ignored:
        yield f"{shown(' '.join(context.ignored), 40)} next to the price was ignored"


def read_quantity(value: object, *, mark: Mark | None = None) -> int:
    """Read the whole number in a cell.

    Raises: Unreadable.
    """
    if isinstance(value, str):
        check_digits(value[:_LONGEST])
    text = clean(value, 100)
    number, before, after = _only_number(_plain_digits(text).replace(_DECIMAL_MARK, ","), text)
    rest = _COUNTED.sub(" ", fold(f"{before} {after}")).strip(" +.")
    if rest:
        raise Unreadable(f"{shown(text)} is negative" if rest == "-" else f"{shown(text)} is not a quantity")
    amount, _ = _amount(number, mark, None) if isinstance(value, str) else (_exact(text), None)
    if amount != amount.to_integral_value() or amount >= MOST:
        raise Unreadable(f"{shown(text)} is not a whole number" if amount < MOST else f"{shown(text)} is too large")
    return int(amount)


def decimal_mark(values: Iterable[str]) -> Mark | None:
    """The decimal mark of the unambiguous prices of a column; None if they disagree."""
    seen: set[Mark] = set()
    for value in values:
        for number in _NUMBER.findall(_plain_digits(PERCENT.sub(" ", clean(to_plain_digits(value).text, 200)))):
            if (mark := _unmistakable(number)) is not None:
                seen.add(mark)
    return seen.pop() if len(seen) == 1 else None


def _unmistakable(number: str) -> Mark | None:
    last: Mark = "." if number.rfind(".") > number.rfind(",") else ","
    other: Mark = "," if last == "." else "."
    if last in number and other in number:
        return last
    if number.count(last) == 1:
        before, _, rest = number.partition(last)
        is_grouped = len(rest) == 3 and 0 < len(before) <= 3 and not before.startswith("0")
        return None if is_grouped else last
    return other if number.count(last) > 1 else None


def _plain_digits(text: str) -> str:
    return latin_digits(text.translate(_MARKS))


def _prepared(text: str) -> tuple[str, list[str]]:
    """The text of a price with plain digits and at most one mark before its cents, and its percentages."""
    body = _DASHED.sub("", _plain_digits(text))
    percents = PERCENT.findall(body) if "%" in body else []
    if percents:
        body = PERCENT.sub(" ", body)
    return _with_one_mark(body.strip()), percents


def _with_one_mark(body: str) -> str:
    """12€50 as 12.50€."""
    found = _SPLIT.search(body)
    if found is None or sum(map(has_sign, body)) != 1 or not has_sign(found[2]) or len(_NUMBER.findall(body)) != 2:
        return body
    whole = re.sub(r"[.' ]", "", found[1])
    return f"{body[: found.start()]}{whole}.{found[3]}{found[2]}{body[found.end() :]}"


def _exact(text: str) -> Decimal:
    """A value that is a number already."""
    if text.startswith("-"):
        raise Unreadable(f"{shown(text)} is negative")
    if not _EXACT.fullmatch(text):
        raise Unreadable(f"{shown(text)} is not a number" if text else "is not a number")
    return Decimal(text)


def _only_number(body: str, text: str) -> tuple[str, str, str]:
    """The number in a text, and the text before and after it; a repeated number counts once."""
    found = list(_NUMBER.finditer(body))
    if len(found) > 1:  # some are parts of words, as in m2
        found = [each for each in found if not _is_in_word(body, each.start())]
    if not found:
        raise Unreadable(f"{shown(text)} contains no number")
    if len({each[0] for each in found}) > 1:
        raise Unreadable(f"{shown(text)} contains more than one number: use one")
    number, before = found[0][0], body[: found[0].start()]
    if number[0] in ".," and _ends_with_short_form(before):
        raise Unreadable(f"{shown(text)} may be {number} or {number[1:]}: write a digit before the mark")
    ends = [*(each.start() for each in found[1:]), len(body)]
    after = " ".join(body[each.end() : end] for each, end in zip(found, ends, strict=True))
    return number, before, after


def _is_in_word(body: str, start: int) -> bool:
    letters = re.search(r"[^\W\d_]+$", body[:start])
    return letters is not None and find_mention(letters[0]) is None


def _ends_with_short_form(before: str) -> bool:
    """ "Rs .50" may be "Rs. 50"."""
    letters = re.search(r"([^\W\d_]+)\s*$", before)
    return letters is not None and letters[1] not in CODES


def _is_negative(before: str, after: str) -> bool:
    """A dash before or after a number, or brackets around it, as in accounting."""
    left, right = before.strip(), after.strip()
    if left.startswith("(") and ")" not in left and right.endswith(")") and "(" not in right:
        return True
    return bool(_MINUS_BEFORE.search(left.strip(" ()")) or _MINUS_AFTER.search(right.strip(" ()")))


def _amount(number: str, mark: Mark | None, currency: str | None) -> tuple[Decimal, str | None]:
    """The amount, and what was guessed about it."""
    if _BROKEN.search(number):
        raise Unreadable(f"{shown(number)} is not a number, or more than one")
    plain = number.replace("'", "").replace(" ", "")
    found = mark if mark and _fits(plain, mark) else _unmistakable(plain)
    if found:
        _check_groups(number, found)
        return _decimal(plain, found), None
    if not set(plain) & set(".,"):
        _check_groups(number, ".")
        return Decimal(plain), None
    sign: Mark = "." if "." in plain else ","
    if places(currency) == 3:
        amount = _decimal(plain, sign)
        note = f"{shown(number)} was read as {amount:f}, because prices in {currency} have three decimals"
        return amount, note if sign == "," else None
    amount = _decimal(plain, "," if sign == "." else ".")
    if places(currency) == 0:
        return amount, None
    return amount, f"{shown(number)} was read as {amount:f}, because prices rarely have three decimals"


def _fits(plain: str, mark: Mark) -> bool:
    """Whether a number fits a column with that decimal mark: 1.234,56 does not fit a point."""
    other: Mark = "," if mark == "." else "."
    if plain.count(mark) > 1 or plain.rfind(other) > plain.rfind(mark) > -1:
        return False
    return bool(re.fullmatch(rf"\d*|\d{{1,3}}(?:\{other}\d{{2,3}})*\{other}\d{{3}}", plain.partition(mark)[0]))


def _check_groups(number: str, mark: Mark) -> None:
    """Groups have three digits, or two before the last as in India; otherwise these are several numbers."""
    groups = re.split(r"[.,' ]", number.rpartition(mark)[0] if mark in number else number)
    inner = groups[1:]
    if inner and not (len(inner[-1]) == 3 and all(len(each) in {2, 3} for each in inner) and 0 < len(groups[0]) <= 3):
        raise Unreadable(f"{shown(number)} is not a number, or more than one")


def _decimal(plain: str, mark: Mark) -> Decimal:
    other = "," if mark == "." else "."
    return Decimal("0" + plain.replace(other, "").replace(mark, "."))


def _checked(price: Price, text: str) -> Price:
    if price.amount == 0:
        raise Unreadable("is zero: leave it empty if it is unknown")
    if price.amount >= MOST:
        raise Unreadable(f"{shown(text)} is not a price: it is {MOST:,} or more")
    fine = price.amount.quantize(_FINEST)
    if fine == 0:
        raise Unreadable(f"{shown(text)} is not a price: it is too small")
    return price._replace(amount=fine.normalize())
