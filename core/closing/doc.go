// Package closing disables, enables and deletes the accounts of people.
//
// A disabled person cannot sign in: sessions, reset links and grants to applications have
// ended. Deleting a person also removes the factors, devices, memberships, subscriptions and
// verified senders. The audit log and the authors of records keep the person's id, which no
// longer leads to a name. API keys belong to their organization and stay valid; see decision
// 0121.
//
// It does not sign people in (core/people does) and does not change roles (core/members does).
package closing
