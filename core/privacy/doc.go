// Package privacy exports and erases the data of one person that an organization writes to.
//
// [Register] lists every table of the database with the columns that hold personal data:
// whose data it is, how the rows of a person are found, what erasing does with them, and for
// how long they are kept. Export, erasure, retention and the documentation read this list. A
// test in conformance/privacy compares it with the schema of both databases.
//
// Erasing deletes the rows that are about the person alone. Rows that counters and reports are
// made of stay, with a pseudonym in place of the person: a random id and an address below
// erased.invalid that are stored nowhere else. If mail to the address must be refused later,
// because of an opt-out or a hard bounce, a keyed hash of the address stays; see [Tombstone].
//
// An agent and the public API can do neither. The operator does both with `mailhelm admin
// person`, and members with the permission in the dashboard.
package privacy
