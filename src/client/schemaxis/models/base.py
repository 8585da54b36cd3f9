"""The base of the enumerations, which keep going when a newer server sends a value they do not know."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class OpenEnum(StrEnum):
    """An enumeration of kebab-case names that tolerates numbers from the future.

    A value that this client does not know arrives as a member ``unrecognised-<number>`` that equals
    no known member.
    """

    @classmethod
    def unrecognised(cls, number: int) -> Self:
        """The member that stands for a number without a name here."""
        text = "unspecified" if number == 0 else f"unrecognised-{number}"
        member = str.__new__(cls, text)
        member._name_ = text.upper().replace("-", "_")
        member._value_ = text
        return member

    @property
    def is_recognised(self) -> bool:
        """Whether this client knows the value."""
        return self._value_ in type(self)._value2member_map_

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        if self.is_recognised:
            return (type(self), (self._value_,))
        number = int(self._value_.rpartition("-")[2]) if "-" in self._value_ else 0
        return (type(self).unrecognised, (number,))
