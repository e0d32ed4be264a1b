// Package topics stores copies of the sending account's topics and contact list. It also
// stores the notes that writes of contacts make before they change the sending account. The
// copies of the sending account's contacts are in package contacts.
package topics
