// Package people stores people with their password hashes, sessions, second factors,
// password resets and known devices. It receives secrets only hashed or encrypted.
package people
