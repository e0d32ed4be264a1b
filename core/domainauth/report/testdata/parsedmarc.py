"""Reads one aggregate report by parsedmarc, as often as standard input has lines.

    python3 parsedmarc.py FOLDER REPORT.xml.gz

FOLDER contains the package parsedmarc and what it requires. Packages of its other tasks (mailboxes,
outputs) may be missing: they are replaced by empty ones. After each reading, a line with the number
of records and the seconds is written.
"""

import importlib.util
import os
import sys
import time
from unittest import mock

sys.path.insert(0, sys.argv[1])
for root, modules in {
    "httpx": [], "mailparser": [], "mailsuite": ["smtp", "mailbox", "mailbox.graph", "utils"],
}.items():
    if importlib.util.find_spec(root) is None:
        for name in [root] + [root + "." + module for module in modules]:
            sys.modules[name] = mock.MagicMock()

import parsedmarc
import parsedmarc.utils

# Without the database of countries and networks, which its source may lack, parsedmarc has less work.
if not os.path.exists(os.path.join(sys.argv[1], "parsedmarc/resources/ipinfo/ipinfo_lite.mmdb")):
    parsedmarc.utils.get_ip_address_db_record = lambda ip_address, db_path=None: {
        "country": None, "asn": None, "as_name": None, "as_domain": None,
    }

with open(sys.argv[2], "rb") as file:
    packed = file.read()
for _ in sys.stdin:
    begin = time.perf_counter()
    report = parsedmarc.parse_aggregate_report_file(packed, offline=True, always_use_local_files=True)
    print(len(report["records"]), time.perf_counter() - begin, flush=True)
