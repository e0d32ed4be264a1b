// Package names reads the names that workflows of an organization may use from the API of a
// server: attributes, topics, lists, segments, templates and activities.
package names
