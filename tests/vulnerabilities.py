"""Known vulnerabilities of installed packages: installs pip-audit and prints what it found in one sentence.

    python tests/vulnerabilities.py FOLDER SITE-PACKAGES     (`make audit`)

pip-audit asks the package index. If it gets no answer, it skips the package and succeeds; here, that is a failure.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

OURS = "hopwave"
NO_NETWORK = "no audit was made: {}; run `make audit` where the package index can be reached"


def verdict(report: dict[str, Any]) -> tuple[int, str]:
    """The exit status and a sentence for pip-audit's JSON report."""
    packages = [one for one in report["dependencies"] if one["name"] != OURS]
    left_out = [one["name"] for one in packages if "skip_reason" in one]
    weak = [f"{one['name']} {one['version']} ({v['id']})" for one in packages for v in one.get("vulns", ())]
    audited = len(packages) - len(left_out)
    if weak:
        return 1, f"{audited} packages audited, {len(weak)} vulnerabilities: {', '.join(weak)}"
    if not audited:
        return 2, NO_NETWORK.format(f"nothing is known of any of the {len(packages)} packages")
    if left_out:
        return 2, f"{audited} packages audited without a finding, but nothing is known of {', '.join(left_out)}"
    return 0, f"{audited} packages audited, none has a known vulnerability"


def main(folder: str, site: str) -> int:
    """Install pip-audit, run it, and print the verdict."""
    binaries = Path(folder) / "bin"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    tried = subprocess.run([binaries / "python", "-m", "pip", "install", "--quiet", "pip-audit"], check=False)
    if tried.returncode:
        print(NO_NETWORK.format("pip-audit could not be installed"))
        return 2
    line = [binaries / "pip-audit", "--path", site, "--format", "json", "--progress-spinner", "off"]
    asked = subprocess.run(line, capture_output=True, text=True, check=False)
    try:
        status, sentence = verdict(json.loads(asked.stdout))
    except ValueError:
        last = (asked.stderr.strip().splitlines() or ["pip-audit wrote nothing"])[-1]
        status, sentence = 2, NO_NETWORK.format(last)
    print(sentence)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
