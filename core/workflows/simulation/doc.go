// Package simulation lets contacts in memory run through a workflow. Time passes as fast as the
// machine can count, and nothing is sent or stored.
//
//   - DryRun says what a workflow would do with one contact from now on.
//   - Run lets many contacts run between two times and counts what happens.
//   - Estimator loads contacts and says what would have happened over the last days.
//
// All of them use package engine, so that they take the same steps as real runs. They are
// deterministic: the same contacts and times give the same result.
//
// # What a simulation knows
//
// Events of a contact are visible from their time on. All other data of a contact has one value,
// that of now, except that steps of the workflow change it. Messages have their outcome at once.
// Frequency caps count simulated messages only, not those of other workflows, and simulated
// messages cause no opens or clicks.
package simulation
