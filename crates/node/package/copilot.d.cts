import type { PermissionHandler, PermissionRequest, Tool } from "@github/copilot-sdk";
import type { Toolbox } from "./index.cjs";
import type { AdapterOptions, ApprovalRequest } from "./adapter.cjs";

export type { AdapterOptions, ApprovalRequest };

/** The tools of a toolbox for a session of the Copilot SDK. */
export declare function toolcellTools(box: Toolbox, options?: AdapterOptions): Promise<Tool<any>[]>;

/**
 * For the option `onPermissionRequest`. For a run that needs an approval, the handler is given what a person is to be shown; other
 * calls of these tools are approved by the policy of Toolcell, and all other requests are the handler's. Each answer holds for one call.
 */
export declare function toolcellPermissions(
  tools: Tool<any>[],
  handler: (request: PermissionRequest, invocation: Parameters<PermissionHandler>[1], approval?: ApprovalRequest) => ReturnType<PermissionHandler>,
): PermissionHandler;
