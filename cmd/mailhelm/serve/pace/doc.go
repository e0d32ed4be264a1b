// Package pace limits, for a server, what the rate limits of calls do not count: the pages of
// the dashboard that a person requests, and the activities that an organization sends.
package pace
