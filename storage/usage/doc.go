// Package usage stores the numbers of calls at the agent endpoint by client, person,
// operation and day.
package usage
