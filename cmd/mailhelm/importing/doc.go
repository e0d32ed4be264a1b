// Package importing is `mailhelm ingest` and `mailhelm import`: they bring data that was
// kept elsewhere into an installation from a file.
//
// It owns the commands and what they print. Reading the files is in packages backfill,
// contactfile and contactimport below; the domains store what the files hold.
package importing
