// Package tags has the tags of an organization. People tag templates and broadcasts to find
// them again in lists. Tags are created and set on the dashboard; the API reads them.
package tags
