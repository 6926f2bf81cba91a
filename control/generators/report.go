package generators

// Report is the status of an open generator as processes exchange it.
type Report struct {
	Name     string                    `json:"name"`
	Left     map[string]float64        `json:"left,omitempty"`
	Loads    uint64                    `json:"loads"`
	Failed   uint64                    `json:"failed"`
	Waits    uint64                    `json:"waits"`
	Breakers map[string]map[string]int `json:"breakers,omitempty"` // by server and state
	Members  []MemberReport            `json:"members,omitempty"`
}

// MemberReport is the state of a member of an ha or auto_increment generator.
type MemberReport struct {
	Of    string `json:"of"`
	Name  string `json:"name"`
	State string `json:"state"`
	Error string `json:"error,omitempty"` // error of its last call; empty if that succeeded
}

// longestError bounds the reported error of a member, in bytes.
const longestError = 300

// Reports returns the reports of the open generators, sorted by name.
func (s *Set) Reports() []Report {
	reports := []Report{}
	for _, st := range s.Status() {
		r := Report{Name: st.Name, Left: st.Left, Loads: st.Loads, Failed: st.Failed, Waits: st.Waits, Breakers: map[string]map[string]int{}}
		for before, states := range st.Breakers {
			r.Breakers[before] = map[string]int{}
			for state, n := range states {
				r.Breakers[before][state.String()] = n
			}
		}
		for _, m := range st.Members {
			told := MemberReport{Of: m.Of, Name: m.Name, State: m.State.String()}
			if m.Err != nil {
				told.Error = m.Err.Error()
				told.Error = told.Error[:min(len(told.Error), longestError)]
			}
			r.Members = append(r.Members, told)
		}
		reports = append(reports, r)
	}
	return reports
}
