package contactimport

import "context"

// verdicts says which processes have ended. It asks Processes once for each process and
// remembers the answer, because Processes may wait seconds for a heartbeat. An answer is
// valid for one run of the periodic job: a process that ran at its first upload may end
// before its last one, and the next run then notices. It must not be used concurrently.
type verdicts struct {
	processes Processes
	ended     map[string]bool // by the id of the process
}

func newVerdicts(processes Processes) verdicts { return verdicts{processes, map[string]bool{}} }

// hasEnded reports whether the process with the id has ended. It does not remember errors.
func (v verdicts) hasEnded(ctx context.Context, process string) (bool, error) {
	if ended, known := v.ended[process]; known {
		return ended, nil
	}
	ended, err := v.processes.HasEnded(ctx, process)
	if err != nil {
		return false, err
	}
	v.ended[process] = ended
	return ended, nil
}
