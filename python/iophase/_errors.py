"""Errors and warnings."""

from __future__ import annotations


class Error(Exception):
    """Something that cannot be done: where, what was found, what was expected, what to try."""

    def __init__(
        self,
        message: str,
        path: str | None = None,
        place: str | None = None,
        found: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message, path, place, found, expected, remedy)
        self.path = path
        self.place = place
        self.found = found
        self.expected = expected
        self.remedy = remedy

    def __str__(self) -> str:
        return str(self.args[0])


class FormatError(Error):
    """An input cannot be read: it is damaged, or in no known format."""


class LimitError(Error):
    """A bound against hostile or runaway input was hit."""


class EmptyError(Error):
    """The trace holds nothing for this request."""


class UsageError(Error, ValueError):
    """The request makes no sense."""


class OutputError(Error):
    """A result cannot be written."""


def in_keywords(text: str) -> str:
    """A text with the options of the command, such as `--min-period`, as keywords."""
    first, *rest = text.split("--")
    made = first
    for part in rest:
        end = next((i for i, c in enumerate(part) if not (c.isalnum() or c == "-")), len(part))
        made += part[:end].replace("-", "_") + part[end:]
    return made


class TraceWarning(UserWarning):
    """Something to know before trusting the numbers of a trace."""

    def __init__(self, code: str, message: str, remedy: str | None = None, path: str | None = None) -> None:
        remedy = remedy and in_keywords(remedy)
        super().__init__(code, message, remedy, path)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.path = path

    def __str__(self) -> str:
        place = f"{self.path}: " if self.path else ""
        return f"{place}{self.message}" + (f"; {self.remedy}" if self.remedy else "")
