// Package passwords checks the passwords that people choose: their length, and whether they
// are common. It owns the list of the 10,000 most common passwords, and the hashes of
// passwords (argon2id). It does not store hashes: core/people does.
//
// frequent.txt is the first 10,000 entries of passwords.json of @zxcvbn-ts/language-common
// 4.1.3 (MIT, see frequent.LICENSE.txt), ordered by how often they occurred in leaks. Here
// it is sorted by bytes and searched in place in the binary, so that it takes no further
// memory.
package passwords
