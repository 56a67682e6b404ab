#!/usr/bin/env python3
"""The packages that the built programs are linked with and the page is made of, as SPDX 2.3.

usage: write_sbom.py VERSION PROGRAM...

Direct and indirect shared libraries come from ldd, their packages and versions from dpkg; where
there is no dpkg, libraries are named by their files alone. The page's come from its lock file."""
import hashlib
import json
import os
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def libraries_of(program):
    found = {}
    for line in output_of("ldd", program).splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match:
            found[match[1]] = os.path.realpath(match[2])
    return found


def package_of(path):
    """(name, version) of the Debian package that owns a file, or None."""
    # Merged /usr: packages may know the file by its older place.
    for candidate in (path, path.removeprefix("/usr")):
        try:
            owner = output_of("dpkg-query", "-S", candidate).split(":")[0]
            return owner, output_of("dpkg-query", "-W", "-f=${Version}\n", owner).splitlines()[0]
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


def entry(name, version, purl=None, licence="NOASSERTION"):
    package = {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }
    if purl:
        package["externalRefs"] = [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": purl,
        }]
    return package


def page_packages():
    with open("web/package-lock.json", encoding="utf-8") as file:
        locked = json.load(file)["packages"]
    for path in sorted(locked):
        if not path:
            continue  # the page itself
        name, version = path.rpartition("node_modules/")[2], locked[path]["version"]
        licence = locked[path].get("license", "NOASSERTION")
        yield entry(name, version, f"pkg:npm/{name.replace('@', '%40')}@{version}", licence)


def main(version, programs):
    packages = {}
    for program in programs:
        for soname, path in libraries_of(program).items():
            if os.path.dirname(path) == os.path.dirname(os.path.realpath(program)):
                continue  # ours
            owner = package_of(path)
            name, number = owner or (soname, "unknown")
            purl = f"pkg:deb/debian/{name}@{number}" if owner else None
            packages[name] = entry(name, number, purl)
    own = entry("yawara", version, licence="MIT")
    listed = [packages[name] for name in sorted(packages)]
    page = list(page_packages())
    digest = hashlib.sha256(json.dumps(listed + page).encode()).hexdigest()
    epoch = output_of("env", "TZ=UTC", "git", "log", "-1", "--format=%cd",
                      "--date=format-local:%Y-%m-%dT%H:%M:%SZ").strip()
    json.dump({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"yawara-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/yawara-{version}-{digest[:16]}",
        "creationInfo": {"created": epoch, "creators": ["Tool: write_sbom.py"]},
        "packages": [own] + listed + page,
        "relationships": [{
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": own["SPDXID"],
        }] + [{
            "spdxElementId": own["SPDXID"],
            "relationshipType": "DYNAMIC_LINK",
            "relatedSpdxElement": package["SPDXID"],
        } for package in listed] + [{
            "spdxElementId": package["SPDXID"],
            "relationshipType": "BUILD_DEPENDENCY_OF",
            "relatedSpdxElement": own["SPDXID"],
        } for package in page],
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
