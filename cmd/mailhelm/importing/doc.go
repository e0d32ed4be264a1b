// Package importing is `mailhelm ingest` and `mailhelm import`: they import existing
// data from a file into an installation.
//
// It owns the commands and what they print. The packages backfill, contactfile and
// contactimport below read the files; the domains store the data.
package importing
