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
// [Notice] after the job has seen an organization for the first time.
package retention
