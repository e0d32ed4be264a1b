// Package people stores people with their password hashes, sessions, second factors,
// password resets and known devices. Secrets reach it hashed or sealed.
package people
