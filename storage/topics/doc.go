// Package topics stores copies of the account's topics and contact list. It also stores the
// notes that writes of contacts make before they change the account. The copies of the
// account's contacts are in package contacts.
package topics
