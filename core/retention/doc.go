// Package retention deletes old records in tables that grow.
//
// [Kinds] lists the kinds of records whose period an organization can set, each with a default
// and bounds. [Settings] reads and changes the periods. [Worker] is the job that deletes what is
// older, in short transactions with pauses, so that other writes do not wait.
//
// [Fixed] lists records that are kept for a period that cannot be changed. Other packages delete
// those. The register of core/privacy, the dashboard and the documentation show both lists.
//
// Nothing is deleted at once: a changed period applies after [Reconsider], and the defaults apply
// [Notice] after the job has seen an organization for the first time. Two kinds had their
// default before periods could be set, so it applies to them at once.
//
// Results of calls also end by themselves: a call stores the time at which its result ends, by
// the period at the time of the call. So a longer period applies to calls from then on, and the
// job deletes what a shorter one makes too old.
package retention
