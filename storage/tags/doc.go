// Package tags stores the tags of templates and broadcasts.
package tags
