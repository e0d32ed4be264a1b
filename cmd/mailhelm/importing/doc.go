// Package importing is `mailhelm ingest`, which imports email events, and `mailhelm
// import`, which imports contacts. Both read a file and store its data in an installation.
//
// This package defines the commands and what they print. Its subpackages backfill,
// contactfile and contactimport read the files. The packages in core store the data.
package importing
