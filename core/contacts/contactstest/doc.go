// Package contactstest gives tests an organization with contacts on a real database and a
// simulated sending account. The organization has attributes, lists and topics. Operations
// run with the same steps as in the product. The package is for tests only.
package contactstest
