// Package everyday tests that an assistant can do the work of a marketing team with the tools
// of the agent endpoint. Each task is a request that people make, such as "This customer says
// she gets no mail: find out why". A task has no model: its steps are the calls that a good
// assistant would make, and they take ids, hashes and hints from the answers of earlier calls.
//
// The check of a task reads the resulting state in another way than the steps: by the REST
// API, by the stores, or from the simulated sending account. Together the tasks use every tool
// of the catalogue. A failing task prints its request, its calls and their answers.
package everyday
