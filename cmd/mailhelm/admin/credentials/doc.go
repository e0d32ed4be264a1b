// Package credentials has the commands of `mailhelm admin` for API keys, OAuth clients, the
// grants of people to clients, and the keys that sign access tokens.
package credentials
