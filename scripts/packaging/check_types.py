#!/usr/bin/env python3
# scripts/packaging/check_types.py - what Pyright makes of a wheel's types.
"""`check_types.py ENVIRONMENT`: one where the wheel and a Pyright are.

Every public name has to have a type that Pyright knows, which is what editors
show, but for modules of other libraries, which are not installed there.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Of what is not there the types are unknown.
OF_OTHERS = re.compile(
    r"tilefold\.(compat|dask\w*|gpytorch|jax|pandas|scipy|sklearn|torch)\b"
)


def symbols(environment: Path) -> list[dict[str, object]]:
    """Every public name of the package."""
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    # Where it runs it takes files for a project, and looks there first.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                environment / "bin" / "basedpyright",
                *("--ignoreexternal", "--verifytypes", "tilefold"),
                "--outputjson",
            ],
            cwd=folder,
            env=os.environ | {"PATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=False,  # 1 where anything is unknown
        )
    return list(json.loads(done.stdout)["typeCompleteness"]["symbols"])


if __name__ == "__main__":
    found = symbols(Path(sys.argv[1]).absolute())
    own = [one for one in found if not OF_OTHERS.match(str(one["name"]))]
    unknown = [one for one in own if not one["isTypeKnown"]]
    for one in unknown:
        print(one["name"], [d["message"] for d in one["diagnostics"]])
    print(f"types of {len(own)} names, of which {len(unknown)} are unknown")
    if unknown or len(own) < 500:
        sys.exit(1)
