// Package connecting has the commands for clients of a Mailhelm server: `mailhelm token`
// gets access tokens for programs without a person, and `mailhelm mcp` connects assistants
// that only speak MCP over standard input and output.
//
// The commands need only the address of the server. Package discovery finds the
// authorization server, package tokens requests tokens, package signin lets a person sign
// in, package grants stores the result, package session keeps it fresh, and package bridge
// passes the messages on.
package connecting
