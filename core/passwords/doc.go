// Package passwords checks the passwords that people choose, and makes and verifies
// password hashes (argon2id). It contains the list of the 10,000 most common passwords. It
// does not store hashes: core/people does.
//
// frequent.txt has the first 10,000 entries of passwords.json of @zxcvbn-ts/language-common
// 4.1.3 (MIT, see frequent.LICENSE.txt), which is ordered by how often they occurred in
// leaks. frequent.txt is sorted by bytes and searched in place in the binary, so that it
// takes no further memory.
package passwords
