// Package topics stores the mirror of the account's topics and of its contact list, and the
// notes that writes of contacts make before they change the account. The contacts of the
// mirror are in package contacts.
package topics
