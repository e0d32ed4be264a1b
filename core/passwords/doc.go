// Package passwords judges the passwords that people choose: their length, and
// whether a guesser tries them first. It owns the list of the 10,000 most common
// passwords, and the hashes of passwords (argon2id). It stores none: core/people does.
//
// frequent.txt is the first 10,000 entries of passwords.json of
// @zxcvbn-ts/language-common 4.1.3 (MIT, see frequent.LICENSE.txt), which orders
// leaked passwords by how often they were found. It is sorted by bytes here and
// searched where the linker put it, so that it takes no memory of its own.
package passwords
