// Package orgmove moves an organization from one installation to another: [Export] writes an
// archive, [Import] reads it. The databases of the installations may differ.
//
// # The archive
//
// It is a tar archive, compressed with gzip and encrypted with age (age-encryption.org/v1), so the
// programs age, gzip and tar read it too. It has these files, in this order:
//
//   - organization.json, a [Header].
//   - rows/TABLE/N.jsonl: the rows of a table, from N = 1 on. A line is a JSON array with the values
//     of the columns that the header names. No row has the organization's id: all of them belong to
//     the one in the header. Bytes are base64. Secrets that the master key of an installation seals
//     are opened, so only the encryption of the archive protects them.
//   - objects/KEY: an object of the organization, such as a received message.
//   - manifest.json, a [Manifest]: how many rows each table has, and their SHA-256.
//
// # What it does not own
//
// It knows no SQL; storage/orgmove has the statements, and the list of tables that do not move.
package orgmove
