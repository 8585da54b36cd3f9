"""The settings of the private profile that every office starts with. Standard library only.

What stands here decides how formulas are read and calculated, so that nothing depends on what somebody
once chose in a profile of their own, and shuts what could reach outside: macros, links, recovery.
"""

from __future__ import annotations

import re
from pathlib import Path

_REGISTRY = "user/registrymodifications.xcu"
_BUILD = "user/extensions/buildid"

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry" '
    'xmlns:xs="http://www.w3.org/2001/XMLSchema" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
)

_SETTINGS: tuple[tuple[str, str, str], ...] = (
    ("Setup/L10N", "ooLocale", "en-US"),
    ("Setup/L10N", "ooSetupSystemLocale", "en-US"),
    ("Setup/L10N", "DecimalSeparatorAsLocale", "true"),
    ("Setup/Office", "ooSetupInstCompleted", "true"),
    ("Office.Common/Misc", "FirstRun", "false"),
    ("Office.Common/Misc", "UseOpenCL", "false"),
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    # A thumbnail is drawn for every file, which takes longer than the file itself.
    ("Office.Common/Save/Document", "GenerateThumbnail", "false"),
    ("Office.Common/Save/Document", "UseUserData", "false"),
    ("Office.Common/Save/Document", "CreateBackup", "false"),
    ("Office.Recovery/AutoSave", "Enabled", "false"),
    ("Office.Recovery/RecoveryInfo", "Enabled", "false"),
    ("Office.Calc/Content/Update", "Link", "2"),
    ("Office.Calc/Formula/Syntax", "Grammar", "0"),
    # Text becomes a number in arithmetic by the rules of en-US, which is what other spreadsheets do.
    ("Office.Calc/Formula/Syntax", "StringConversion", "3"),
    ("Office.Calc/Formula/Syntax", "EmptyStringAsZero", "false"),
    ("Office.Calc/Formula/Calculation", "UseThreadedCalculationForFormulaGroups", "false"),
    ("Office.Calc/Calculate/Other", "CaseSensitive", "false"),
    ("Office.Calc/Calculate/Other", "FindLabel", "false"),
    ("Office.Calc/Calculate/Other", "Precision", "false"),
    ("Office.Calc/Calculate/Other", "SearchCriteria", "true"),
    ("Office.Calc/Calculate/Other", "RegularExpressions", "false"),
    ("Office.Calc/Calculate/Other", "Wildcards", "true"),
    ("Office.Calc/Calculate/IterativeReference", "Iteration", "false"),
)


def build_of(program: str) -> str:
    """The build of an installed office, as it stands beside its program; empty if it does not."""
    try:
        text = Path(program).with_name("versionrc").read_text("utf-8", "replace")
    except OSError:
        return ""
    found = re.search("^buildid=(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def fill(folder: Path, build: str) -> None:
    """Write a profile for the build; for another one the office fills it anew, and wants to be started again."""
    items = "".join(
        f'<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>\n"
        for path, name, value in (*_SETTINGS, ("Setup/Office", "LastCompatibilityCheckID", build))
    )
    for name, text in ((_REGISTRY, f"{_HEAD}{items}</oor:items>\n"), (_BUILD, build)):
        (folder / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
