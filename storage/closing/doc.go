// Package closing disables and deletes people in the database. The rules are in core/closing.
package closing
