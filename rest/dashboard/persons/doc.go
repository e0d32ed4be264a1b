// Package persons writes the data of a person as a page that can be sent to them.
package persons
