// Package grants stores what a person granted to `mailhelm mcp`, one grant for each address
// of an agent endpoint: in the keyring of the operating system, or in a file that only its
// owner may read. A lock file orders the processes that use one grant.
package grants
