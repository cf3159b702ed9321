"""JSONPath (RFC 9535) for untrusted responses: expressions that can be slow on hostile input are rejected."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, cast

from forebay.errors import ConfigError, PermanentError
from forebay.types import Json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonpath import JSONPathEnvironment

MISSING = "JSONPath needs a package that is not installed: pip install 'forebay[sheets]'"
_LONGEST = 300
_MOST_LOOKED_AT = 50


class JsonPath:
    """A compiled JSONPath.

    Raises: ValueError for an invalid or rejected path; ConfigError when the package is missing.
    """

    def __init__(self, text: str) -> None:
        try:
            from jsonpath import JSONPathError  # noqa: PLC0415 - an extra
        except ImportError as missing:
            raise ConfigError(MISSING) from missing
        if len(text) > _LONGEST:
            raise ValueError(f"has {len(text)} characters; at most {_LONGEST} are allowed")
        try:
            self._path = _environment().compile(text)
            _check_effort(text)
        except JSONPathError as error:
            raise ValueError(f"is not a JSONPath: {error.args[0]}") from None
        self.text = text

    def __repr__(self) -> str:
        return f"JsonPath({self.text!r})"

    def values(self, document: Json, most: int = _MOST_LOOKED_AT) -> list[Json]:
        """The values that match the path, at most `most`.

        Raises: PermanentError when the value is nested too deeply.
        """
        from jsonpath import JSONPathError  # noqa: PLC0415 - an extra, which is installed

        if not isinstance(document, list | dict):  # the library would parse a text as JSON
            return [document] if self.text == "$" else []
        try:
            found = self._path.finditer(cast("dict[str, object]", document))
            return [cast("Json", match.obj) for match in islice(found, most)]
        except (JSONPathError, RecursionError):
            raise PermanentError(f"the response cannot be searched for {self.text}: it is nested too deeply") from None

    def scalar(self, document: Json) -> str | int | float | bool | None:
        """The first text or number that matches the path, or is in a matching list."""
        for value in self.values(document):
            for each in _listed(value):
                if isinstance(each, str | int | float) and each != "":
                    return each
        return None


def _listed(value: Json) -> Iterator[object]:
    if isinstance(value, list):
        yield from islice(cast("list[object]", value), _MOST_LOOKED_AT)
    else:
        yield value


@cache
def _environment() -> JSONPathEnvironment:
    from jsonpath import JSONPathEnvironment  # noqa: PLC0415 - an extra

    environment = JSONPathEnvironment(strict=True)
    for name in ("match", "search"):  # regular expressions may take forever on hostile input
        del environment.function_extensions[name]
    return environment


def _check_effort(text: str) -> None:
    """One of these takes linear time; a combination multiplies it."""
    kinds = [token.kind for token in _environment().lexer.tokenize(text)]
    if kinds.count("TOKEN_DDOT") > 1:
        raise ValueError("has more than one '..', which may take too long")
    if kinds.count("TOKEN_ROOT") > 1:
        raise ValueError("has '$' within a filter, which may take too long: use '@'")
    if "TOKEN_COMMA" in kinds:
        raise ValueError("has a list of names or indexes: use a separate path for each")
