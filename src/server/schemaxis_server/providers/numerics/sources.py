"""The operations that start a series: a file, a grid, a formula, equations."""

from __future__ import annotations

from typing import Any

from schemaxis_server.providers.contract import Operation
from schemaxis_server.providers.numerics import expression as formulas
from schemaxis_server.providers.numerics import schemas as s
from schemaxis_server.providers.numerics.descriptions import SCOPE, VERIFICATION, document, node
from schemaxis_server.providers.numerics.systems import SYSTEMS
from schemaxis_server.providers.tables import dialect

ACCEPTED = ("series/csv", "table/csv")


def operations(version: str) -> tuple[Operation, ...]:
    return (_read_csv(version), _linspace(version), _expression(version), _solve(version), _ode(version))


def _read_csv(version: str) -> Operation:
    return Operation(
        name="readCSV",
        title="Read CSV",
        purpose="Two columns of a CSV file that an earlier, verified job published, as a series in the order "
        "of the rows. Leave file null and bind a series/csv or table/csv resource to "
        "/nodes/<index>/options/file when planning. x must be finite; y may be NaN or Infinity, which only "
        "expression and statistics then take. "
        f"{dialect.STRICT} Of it at most {s.MAX_SAMPLES} rows. Other columns may hold anything. The result's "
        f"columns "
        "are named as in the file.",
        scope=f"{SCOPE}/sources",
        min_inputs=0,
        max_inputs=0,
        options=s.options(
            {
                "file": {
                    "type": "null",
                    "default": None,
                    "description": "Null in the document; a binding names the resource.",
                },
                "xColumn": dialect.column_name("The column of x, by its name in the header."),
                "yColumn": dialect.column_name("The column of y, another one."),
                **dialect.options(),
            }
        ),
        keywords=(
            "csv",
            "load",
            "import",
            "open",
            "measurement",
            "data",
            "file",
            "table",
            "columns",
            "readcsv",
        ),
        example=document(version, node("data", "readCSV", {"file": None, "xColumn": "x", "yColumn": "y"})),
        file_options={"file": ACCEPTED},
        verification=VERIFICATION,
    )


def _linspace(version: str) -> Operation:
    return Operation(
        name="linspace",
        title="Equally spaced grid",
        purpose="A grid to put into expression: x_i = i·step + start with step = (stop - start)/(count - 1), "
        "each operation rounded to a double, for i = 0 … count - 1; the last is exactly stop; y is x. "
        "Columns x and y.",
        scope=f"{SCOPE}/sources",
        min_inputs=0,
        max_inputs=0,
        options=s.options(
            {
                "start": s.number("The first x."),
                "stop": s.number("The last x, above or below start."),
                "count": s.whole("How many samples.", 2, s.MAX_SAMPLES),
            }
        ),
        keywords=("grid", "range", "axis", "arange", "sample", "points", "time"),
        example=document(version, node("time", "linspace", {"start": 0, "stop": 2, "count": 401})),
        verification=VERIFICATION,
    )


def _expression(version: str) -> Operation:
    return Operation(
        name="expression",
        title="Formula",
        purpose="A new y computed by a formula at each sample. Names: x; y or y1 for the first input's y, "
        "y2, y3 … for the others'; and the id of each input, where it is made of letters, digits and _ and "
        "has no other "
        f"meaning here. {formulas.MEANING} The formula is parsed, never run as code. At most "
        f"{formulas.MAX_CHARACTERS} characters, {formulas.MAX_TERMS} terms, {formulas.MAX_DEPTH} parentheses "
        f"deep. "
        "The result keeps the first input's x and its name.",
        scope=f"{SCOPE}/sources",
        min_inputs=1,
        max_inputs=s.MAX_EXPRESSION_INPUTS,
        input_purpose="1 to 8 series with the same x (to 1e-9 of its range); resample or interpolate those "
        "that differ.",
        options=s.options(
            {
                "expression": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": formulas.MAX_CHARACTERS,
                    "description": "The formula, for instance 2*sin(2*pi*50*x) + y^2.",
                },
                "name": {
                    **dialect.column_name("The name of the new y column, another than that of x."),
                    "default": "y",
                },
            }
        ),
        keywords=(
            "formula",
            "function",
            "calculate",
            "math",
            "equation",
            "scale",
            "add",
            "combine",
            "sine",
            "signal",
        ),
        example=document(
            version,
            node("time", "linspace", {"start": 0, "stop": 1, "count": 201}),
            node("wave", "expression", {"expression": "exp(-2*x)*sin(2*pi*5*x)"}, "time"),
            node(
                "both", "expression", {"expression": "wave + 0.1*max(y2, 0.5)", "name": "sum"}, "wave", "time"
            ),
        ),
        verification=VERIFICATION,
    )


def _solve(version: str) -> Operation:
    row = {"type": "array", "items": s.number("A coefficient."), "minItems": 1, "maxItems": s.MAX_EQUATIONS}
    return Operation(
        name="solveLinear",
        title="Linear equations",
        purpose="The solution u of A·u = b. The result's x is 1 … n, its y is u (columns index and value); "
        "coefficients is u; residual is the root mean square of A·u - b. A matrix whose condition number "
        "(2-norm, rows scaled to a largest entry of 1) is above 1e12 is refused as singular; above 1e8 a "
        "warning says so.",
        scope=f"{SCOPE}/equations",
        min_inputs=0,
        max_inputs=0,
        options=s.options(
            {
                "matrix": {
                    "type": "array",
                    "items": row,
                    "minItems": 1,
                    "maxItems": s.MAX_EQUATIONS,
                    "description": "A, row by row: as many rows as columns.",
                },
                "rightHandSide": {**row, "description": "b, one number a row."},
            }
        ),
        keywords=(
            "linear system",
            "equations",
            "matrix",
            "solve",
            "gauss",
            "unknowns",
            "simultaneous",
            "solver",
        ),
        example=document(
            version, node("u", "solveLinear", {"matrix": [[4, 1], [1, 3]], "rightHandSide": [1, 2]})
        ),
        verification=VERIFICATION,
    )


def _ode(version: str) -> Operation:
    components = list(dict.fromkeys(state for system in SYSTEMS.values() for state in system.states))
    return Operation(
        name="ode",
        title="Differential equations",
        purpose="One state of a named system over time, from initial values: the exact solution to 1e-10 of "
        "its largest value. x is t at count equally spaced times from start to stop, y the state; the "
        "columns are t and the state's name. "
        + ". ".join(system.words() for system in SYSTEMS.values())
        + ". What needs too many steps (a "
        "stiff system, a long time) is refused.",
        scope=f"{SCOPE}/equations",
        min_inputs=0,
        max_inputs=0,
        options=s.options(
            {
                "system": {
                    "anyOf": [_system(name) for name in SYSTEMS],
                    "description": "The system with its parameters: an object with type and the "
                    "parameters' names.",
                },
                "initial": {
                    "type": "array",
                    "items": s.number("A state at start.", minimum=-1e12, maximum=1e12),
                    "minItems": 1,
                    "maxItems": 3,
                    "description": "The states at start, in the order in which the equations name them.",
                },
                "start": s.number("The first t.", 0, minimum=-1e6, maximum=1e6),
                "stop": s.number("The last t, above start.", minimum=-1e6, maximum=1e6),
                "count": s.whole("How many times, both ends included.", 2, s.MAX_ODE_SAMPLES),
                "component": {
                    "anyOf": [{"enum": components}, {"type": "null"}],
                    "default": None,
                    "description": "Which state is y, by its name; null for the first.",
                },
            }
        ),
        keywords=(
            *("differential equation", "simulate", "dynamics", "integrate", "initial value", "time"),
            *("oscillator", "pendulum", "decay", "growth", "van der pol", "predator", "sir", "mass spring"),
        ),
        example=document(
            version,
            node(
                "motion",
                "ode",
                {
                    "system": {"type": "oscillator", "angularFrequency": 6, "dampingRatio": 0.1},
                    "initial": [1, 0],
                    "stop": 5,
                    "count": 251,
                },
            ),
        ),
        verification=VERIFICATION,
    )


def _system(name: str) -> dict[str, Any]:
    parameters = SYSTEMS[name].parameters
    return {
        "type": "object",
        "properties": {"type": {"const": name}, **parameters},
        "required": ["type", *(key for key, schema in parameters.items() if "default" not in schema)],
        "additionalProperties": False,
    }
