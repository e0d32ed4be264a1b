// Package site takes what websites of customers report about visitors who are contacts.
// Browser code sends beacons with a publishable site key and the visitor id that the
// customer's server put into a cookie. Each beacon becomes an activity of the contact.
//
// # What this package owns
//
// The site keys of organizations (settings.go) and the copy of them in memory (keys.go), the
// form of a beacon (beacon.go), the limits and the queue (intake.go), writing the queue to
// the database (writer.go), and the counts for the page about the website (counts.go).
//
// # What other packages own
//
// Package visitorids issues and revokes visitor ids. Package activities stores activities.
// The HTTP of beacons is in rest/beacon.
//
// # What may be lost
//
// A beacon is acknowledged when it is in memory, before any access to the database, so that a
// slow database does not slow down websites. A process that is stopped writes its queue. A
// process that is killed loses the beacons that it took in about the last second. If the
// database is unavailable, beacons wait; those that the bounded queue cannot hold are dropped
// and counted. These are the only acknowledged data that Mailhelm may lose.
//
// # What answers reveal
//
// The caller learns nothing about keys and visitor ids, except that the organization of a
// valid key has turned beacons off. Known and unknown keys take the same steps.
package site
