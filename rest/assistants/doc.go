// Package assistants describes how the common assistants and client libraries are connected
// to the agent endpoint: the steps, the configuration files and the links that install them.
// The documentation and the dashboard both show this description, so that they never differ.
package assistants
