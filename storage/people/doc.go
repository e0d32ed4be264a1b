// Package people stores people with their password hashes, sessions, second factors, known
// devices and password warnings. It receives secrets only hashed or encrypted.
package people
