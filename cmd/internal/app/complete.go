package app

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

// maxOffered bounds a completion: the newest ones are what people mean.
const maxOffered = 50

// CompleteRuns offers the newest runs.
func (a *App) CompleteRuns(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	svc, err := a.Service(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	runs, _, err := svc.Runs(cmd.Context(), "", "", maxOffered)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offered []cobra.Completion
	for _, r := range runs {
		offered = append(offered, cobra.CompletionWithDesc(r.ID, r.Input))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}

// CompleteScenarios offers the newest scenarios.
func (a *App) CompleteScenarios(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	svc, err := a.Service(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	raw, err := svc.Scenarios(cmd.Context())
	var found struct{ Scenarios []struct{ ID, Intent string } }
	if err != nil || json.Unmarshal(raw, &found) != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var offered []cobra.Completion
	for _, s := range found.Scenarios[:min(len(found.Scenarios), maxOffered)] {
		offered = append(offered, cobra.CompletionWithDesc(s.ID, s.Intent))
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}
