// Package peopletest has a fixture for tests of core/people and core/passwordchange: a
// person on a real database, with everything that signs the person in, changes the password
// and mails the person.
package peopletest
