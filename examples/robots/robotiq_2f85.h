/* robotiq_2f85.h - model tables of the Robotiq 2F-85 gripper: nine links, six moving joints, of
   which one is driven and five mimic it.

   Source of all numbers but the actuator's: github.com/Daniella1/urdf_files_dataset,
   urdf_files/random/robot-assets/robotiq_gripper/robotiq_arg85_description.URDF
   Names of links and joints are the file's.

   Left out: the limits of the followers. The file gives all of them [0, 0.8757], also those
   with multiplier -1, which would leave those joints no position but 0. The driven joint's own
   limit bounds all six. The file's effort (1000) and velocity (2.0) are placeholders.

   Added, the file has no actuator: a rotor of 4e-7 kg m^2 behind a 200:1 gear, seen at the joint
   as 200^2 * 4e-7 = 0.016 kg m^2 (a hundred times the fingers: so it is in such grippers), and a
   position drive that gives at most 5 N m.

   Include after mimicdyn.h. */

#ifndef EXAMPLES_ROBOTIQ_2F85_H
#define EXAMPLES_ROBOTIQ_2F85_H

enum {
    ROBOTIQ_BASE_LINK,
    ROBOTIQ_LEFT_OUTER_KNUCKLE, /* carried by finger_joint, the driven one */
    ROBOTIQ_LEFT_OUTER_FINGER,
    ROBOTIQ_LEFT_INNER_KNUCKLE,
    ROBOTIQ_LEFT_INNER_FINGER,
    ROBOTIQ_RIGHT_INNER_KNUCKLE,
    ROBOTIQ_RIGHT_INNER_FINGER,
    ROBOTIQ_RIGHT_OUTER_KNUCKLE,
    ROBOTIQ_RIGHT_OUTER_FINGER,
    ROBOTIQ_BODIES
};

/* The drive at finger_joint. */
#define ROBOTIQ_KP 400.0   /* [N m/rad] */
#define ROBOTIQ_KD 5.0     /* [N m s/rad] */
#define ROBOTIQ_EFFORT 5.0 /* [N m] */

static const mdyn_body robotiq_2f85_bodies[ROBOTIQ_BODIES] = {
    { /* welded to the world */
      .parent = MDYN_WORLD, .joint = MDYN_FIXED,
      .mass = MDYN_C(0.30915),
      .com = MDYN_V3(0.00021987, -2.3546e-10, 0.030163),
      .inertia = MDYN_INERTIA(0.00028972, 0.00030737, 0.00019914,
                              -5.7879e-10, -1.8543e-06, 1.682e-12),
      .name = "robotiq_85_base_link" },
    { /* finger_joint */
      .parent = ROBOTIQ_BASE_LINK, .joint = MDYN_REVOLUTE,
      .axis = MDYN_V3(0, -1, 0),
      .position = MDYN_V3(0.0306011444260539, 0, 0.0627920162695395),
      .mass = MDYN_C(0.00684838849434396),
      .com = MDYN_V3(0.0178331863169983, 3.68915177224286e-11, 0.0021442477325704),
      .inertia = MDYN_INERTIA(2.66832029033166e-07, 1.3889233257419e-06, 1.26603336914415e-06,
                              1.66142314639824e-15, 1.45945633322873e-07, 2.82951161241588e-15),
      .armature = MDYN_C(0.016), .lower = MDYN_C(0), .upper = MDYN_C(0.725),
      .effort = MDYN_C(ROBOTIQ_EFFORT),
      .drive_kp = MDYN_C(ROBOTIQ_KP), .drive_kd = MDYN_C(ROBOTIQ_KD),
      .name = "left_outer_knuckle" },
    { /* left_outer_finger_joint */
      .parent = ROBOTIQ_LEFT_OUTER_KNUCKLE, .joint = MDYN_FIXED,
      .position = MDYN_V3(0.0316910442266543, 0, -0.00193396375724605),
      .mass = MDYN_C(0.0273093985570947),
      .com = MDYN_V3(0.00131451599174296, 2.88942057994543e-15, 0.0215404163180413),
      .inertia = MDYN_INERTIA(8.51629628283022e-06, 6.9133328065108e-06, 2.25006832221981e-06,
                              2.58174336207405e-19, 3.83829504344079e-07, -7.58589926143789e-19),
      .name = "left_outer_finger" },
    { /* left_inner_knuckle_joint */
      .parent = ROBOTIQ_BASE_LINK, .joint = MDYN_REVOLUTE,
      .axis = MDYN_V3(0, -1, 0),
      .position = MDYN_V3(0.0127000000001501, 0, 0.0693074999999639),
      .mass = MDYN_C(0.0110930853895903),
      .com = MDYN_V3(0.017097546626628, -3.93808524389535e-10, 0.0224918438201868),
      .inertia = MDYN_INERTIA(4.23392770691541e-06, 3.96548790524392e-06, 3.24068002883007e-06,
                              5.748978936968e-15, 1.78855677119788e-06, 1.05464666369669e-14),
      .name = "left_inner_knuckle" },
    { /* left_inner_finger_joint */
      .parent = ROBOTIQ_LEFT_INNER_KNUCKLE, .joint = MDYN_REVOLUTE,
      .axis = MDYN_V3(0, -1, 0),
      .position = MDYN_V3(0.034585310861294, 0, 0.0454970193817975),
      .mass = MDYN_C(0.00724255346165745),
      .com = MDYN_V3(0.0060275613594574, -6.29183141465421e-15, 0.00669925693133241),
      .inertia = MDYN_INERTIA(1.47824274053603e-06, 1.70064480838395e-06, 4.77151336838364e-07,
                              -3.94884463570303e-19, -3.45268847648622e-07, 3.5059838910097e-19),
      .name = "left_inner_finger" },
    { /* right_inner_knuckle_joint */
      .parent = ROBOTIQ_BASE_LINK, .joint = MDYN_REVOLUTE,
      .axis = MDYN_V3(0, 1, 0),
      .position = MDYN_V3(-0.0126999999998499, 0, 0.0693075000000361),
      .rotation = MDYN_QUATERNION(1.6155445744325867e-15, 0, 0, 1),
      .mass = MDYN_C(0.0110930853895903),
      .com = MDYN_V3(0.0168606186773776, 3.93808471820465e-10, 0.0226699950793434),
      .inertia = MDYN_INERTIA(4.27134775939882e-06, 3.96548790524392e-06, 3.20325997634666e-06,
                              -8.53568456728898e-15, 1.77774229944246e-06, -8.45108024914164e-15),
      .name = "right_inner_knuckle" },
    { /* right_inner_finger_joint */
      .parent = ROBOTIQ_RIGHT_INNER_KNUCKLE, .joint = MDYN_REVOLUTE,
      .axis = MDYN_V3(0, 1, 0),
      .position = MDYN_V3(0.0341060475457406, 0, 0.0458573878541688),
      .mass = MDYN_C(0.00724255346165744),
      .com = MDYN_V3(0.00602756228812038, -6.47284509480176e-15, 0.00669925609578108),
      .inertia = MDYN_INERTIA(1.47824283625957e-06, 1.70064480838394e-06, 4.77151241114822e-07,
                              -3.95952064019123e-19, -3.45268708875543e-07, 3.55286507960029e-19),
      .name = "right_inner_finger" },
    { /* right_outer_knuckle_joint */
      .parent = ROBOTIQ_BASE_LINK, .joint = MDYN_REVOLUTE,
      .axis = MDYN_V3(0, 1, 0),
      .position = MDYN_V3(-0.0306011444258893, 0, 0.0627920162695395),
      .rotation = MDYN_QUATERNION(1.6155445744325867e-15, 0, 0, 1),
      .mass = MDYN_C(0.00684838849401352),
      .com = MDYN_V3(0.0178097074051638, 3.60493211424024e-11, 0.00233123458346721),
      .inertia = MDYN_INERTIA(2.70004361573169e-07, 1.38892332558312e-06, 1.26286103637978e-06,
                              1.59579467624491e-15, 1.56396493788199e-07, 2.82357800318817e-15),
      .name = "right_outer_knuckle" },
    { /* right_outer_finger_joint */
      .parent = ROBOTIQ_RIGHT_OUTER_KNUCKLE, .joint = MDYN_FIXED,
      .position = MDYN_V3(0.0317095909367246, 0, -0.0016013564954687),
      .mass = MDYN_C(0.0273093985570947),
      .com = MDYN_V3(0.00108844269639009, -2.611488350845e-15, 0.0215530225245502),
      .inertia = MDYN_INERTIA(8.52366028592721e-06, 6.91333280651081e-06, 2.24270431912283e-06,
                              3.41683380899422e-19, 3.18003675694284e-07, 7.37726682706417e-19),
      .name = "right_outer_finger" },
};

/* The <mimic> tags, in the file's order; list them among the couplings of a model. */
enum { ROBOTIQ_MIMICS = 5 };
#define ROBOTIQ_2F85_MIMICS \
    MDYN_MIMIC(ROBOTIQ_LEFT_INNER_KNUCKLE, ROBOTIQ_LEFT_OUTER_KNUCKLE, 1.0, 0.0), \
    MDYN_MIMIC(ROBOTIQ_LEFT_INNER_FINGER, ROBOTIQ_LEFT_OUTER_KNUCKLE, -1.0, 0.0), \
    MDYN_MIMIC(ROBOTIQ_RIGHT_INNER_KNUCKLE, ROBOTIQ_LEFT_OUTER_KNUCKLE, -1.0, 0.0), \
    MDYN_MIMIC(ROBOTIQ_RIGHT_INNER_FINGER, ROBOTIQ_LEFT_OUTER_KNUCKLE, 1.0, 0.0), \
    MDYN_MIMIC(ROBOTIQ_RIGHT_OUTER_KNUCKLE, ROBOTIQ_LEFT_OUTER_KNUCKLE, -1.0, 0.0)

#endif
