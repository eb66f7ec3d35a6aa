/* robotiq_85.h - model tables made by import_robot.py from robotiq_85.urdf (URDF).
   9 links, 6 bodies, 6 degrees of freedom, 5 couplings, 0 loop closures; base fixed to the
   world.
   Mass 0.414137 kg, of which 0.104987 kg moves.

   Include it before mimicdyn.h, for the knobs, and again after it, for the tables.

   Merged into the body that carries them:
   - ROBOTIQ_85_FINGER_JOINT: left_outer_finger
   - ROBOTIQ_85_RIGHT_OUTER_KNUCKLE_JOINT: right_outer_finger
   - the world: base_link

   Changed or noted:
   - line 80: joint `left_inner_knuckle_joint`: effort 0: no bound
   - line 87: joint `left_inner_finger_joint`: effort 0: no bound
   - line 94: joint `right_inner_knuckle_joint`: effort 0: no bound
   - line 101: joint `right_inner_finger_joint`: effort 0: no bound
   - line 108: joint `right_outer_knuckle_joint`: effort 0: no bound */

#if !defined(MIMICDYN_H)
#ifndef MIMICDYN_MAX_BODIES
#define MIMICDYN_MAX_BODIES 6
#endif
#ifndef MIMICDYN_MAX_DOFS
#define MIMICDYN_MAX_DOFS 6
#endif
#ifndef MIMICDYN_MAX_COUPLINGS
#define MIMICDYN_MAX_COUPLINGS 5
#endif
#ifndef MIMICDYN_MAX_ROWS
#define MIMICDYN_MAX_ROWS 11
#endif
#ifndef MIMICDYN_MAX_TERMS
#define MIMICDYN_MAX_TERMS 2
#endif
#ifndef MIMICDYN_MAX_BODY_ROWS
#define MIMICDYN_MAX_BODY_ROWS 0
#endif
#ifndef MIMICDYN_MAX_ENTRIES
#define MIMICDYN_MAX_ENTRIES 90
#endif

#elif !defined(ROBOTIQ_85_TABLES)
#define ROBOTIQ_85_TABLES

#if MIMICDYN_MAX_BODIES < 6
#error "robotiq_85 needs MIMICDYN_MAX_BODIES 6"
#endif
#if MIMICDYN_MAX_DOFS < 6
#error "robotiq_85 needs MIMICDYN_MAX_DOFS 6"
#endif
#if MIMICDYN_MAX_COUPLINGS < 5
#error "robotiq_85 needs MIMICDYN_MAX_COUPLINGS 5"
#endif
#if MIMICDYN_MAX_ROWS < 11
#error "robotiq_85 needs MIMICDYN_MAX_ROWS 11"
#endif
#if MIMICDYN_MAX_TERMS < 2
#error "robotiq_85 needs MIMICDYN_MAX_TERMS 2"
#endif

enum {
    ROBOTIQ_85_FINGER_JOINT, /* revolute joint, link left_outer_knuckle */
    ROBOTIQ_85_LEFT_INNER_KNUCKLE_JOINT, /* revolute joint, link left_inner_knuckle */
    ROBOTIQ_85_LEFT_INNER_FINGER_JOINT, /* revolute joint, link left_inner_finger */
    ROBOTIQ_85_RIGHT_INNER_KNUCKLE_JOINT, /* revolute joint, link right_inner_knuckle */
    ROBOTIQ_85_RIGHT_INNER_FINGER_JOINT, /* revolute joint, link right_inner_finger */
    ROBOTIQ_85_RIGHT_OUTER_KNUCKLE_JOINT, /* revolute joint, link right_outer_knuckle */
    ROBOTIQ_85_BODIES
};
/* Bodies, coordinates and degrees of freedom have the same index. */

/* parent, joint, axis, pitch, position, rotation, mass, com, inertia, armature, damping, friction,
   lower, upper, effort, drive_kp, drive_kd, name, inertia_as_given */
static const mdyn_body robotiq_85_bodies[ROBOTIQ_85_BODIES] = {
    { /* ROBOTIQ_85_FINGER_JOINT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, -1, 0), MDYN_C(0),
      MDYN_V3(0.0306011444260539, 0, 0.0627920162695395), MDYN_QUATERNION(0, 0, 0, 0),
      MDYN_C(0.03415778705143866),
      MDYN_V3(0.0299636093243961, 7.398791773799607e-12, 0.016105407178335213),
      MDYN_INERTIA(1.0452714925955817e-05, 1.1232270250193575e-05, 4.776529195212403e-06,
      4.7261616712091376e-15, -9.208774356459339e-07, 6.355728031135232e-15), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(0), MDYN_C(0.725), MDYN_C(5), MDYN_C(0), MDYN_C(0), "finger_joint", 0 },
    { /* ROBOTIQ_85_LEFT_INNER_KNUCKLE_JOINT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, -1, 0), MDYN_C(0),
      MDYN_V3(0.0127000000001501, 0, 0.0693074999999639), MDYN_QUATERNION(0, 0, 0, 0),
      MDYN_C(0.0110930853895903),
      MDYN_V3(0.017097546626628, -3.93808524389535e-10, 0.0224918438201868),
      MDYN_INERTIA(4.23392770691541e-06, 3.96548790524392e-06, 3.24068002883007e-06,
      5.748978936968e-15, 1.78855677119788e-06, 1.05464666369669e-14), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(-0.8757), MDYN_C(0.8757), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "left_inner_knuckle_joint", 0 },
    { /* ROBOTIQ_85_LEFT_INNER_FINGER_JOINT */
      ROBOTIQ_85_LEFT_INNER_KNUCKLE_JOINT, MDYN_REVOLUTE, MDYN_V3(0, -1, 0), MDYN_C(0),
      MDYN_V3(0.034585310861294, 0, 0.0454970193817975), MDYN_QUATERNION(0, 0, 0, 0),
      MDYN_C(0.00724255346165745),
      MDYN_V3(0.0060275613594574, -6.29183141465421e-15, 0.00669925693133241),
      MDYN_INERTIA(1.47824274053603e-06, 1.70064480838395e-06, 4.77151336838364e-07,
      -3.94884463570303e-19, -3.45268847648622e-07, 3.5059838910097e-19), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(-0.8757), MDYN_C(0.8757), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "left_inner_finger_joint", 0 },
    { /* ROBOTIQ_85_RIGHT_INNER_KNUCKLE_JOINT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 1, 0), MDYN_C(0),
      MDYN_V3(-0.0126999999998499, 0, 0.0693075000000361),
      MDYN_QUATERNION(6.123233995736766e-17, 0, 0, 1), MDYN_C(0.0110930853895903),
      MDYN_V3(0.0168606186773776, 3.93808471820465e-10, 0.0226699950793434),
      MDYN_INERTIA(4.27134775939882e-06, 3.96548790524392e-06, 3.20325997634666e-06,
      -8.53568456728898e-15, 1.77774229944246e-06, -8.45108024914164e-15), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(-0.8757), MDYN_C(0.8757), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "right_inner_knuckle_joint", 0 },
    { /* ROBOTIQ_85_RIGHT_INNER_FINGER_JOINT */
      ROBOTIQ_85_RIGHT_INNER_KNUCKLE_JOINT, MDYN_REVOLUTE, MDYN_V3(0, 1, 0), MDYN_C(0),
      MDYN_V3(0.0341060475457406, 0, 0.0458573878541688), MDYN_QUATERNION(0, 0, 0, 0),
      MDYN_C(0.00724255346165744),
      MDYN_V3(0.00602756228812038, -6.47284509480176e-15, 0.00669925609578108),
      MDYN_INERTIA(1.47824283625957e-06, 1.70064480838394e-06, 4.77151241114822e-07,
      -3.95952064019123e-19, -3.45268708875543e-07, 3.55286507960029e-19), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(-0.8757), MDYN_C(0.8757), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "right_inner_finger_joint", 0 },
    { /* ROBOTIQ_85_RIGHT_OUTER_KNUCKLE_JOINT */
      MDYN_WORLD, MDYN_REVOLUTE, MDYN_V3(0, 1, 0), MDYN_C(0),
      MDYN_V3(-0.0306011444258893, 0, 0.0627920162695395),
      MDYN_QUATERNION(6.123233995736766e-17, 0, 0, 1), MDYN_C(0.03415778705110822),
      MDYN_V3(0.029792982962518342, 7.225539452633218e-12, 0.016418897357880834),
      MDYN_INERTIA(1.0493644890844103e-05, 1.1232270250898256e-05, 4.735599230963212e-06,
      4.554778821580852e-15, -9.716403855942197e-07, 6.302526430659016e-15), MDYN_C(0), MDYN_C(0),
      MDYN_C(0), MDYN_C(-0.8757), MDYN_C(0.8757), MDYN_C(0), MDYN_C(0), MDYN_C(0),
      "right_outer_knuckle_joint", 0 },
};

static const mdyn_coupling robotiq_85_couplings[] = {
    /* mimic of joint `left_inner_knuckle_joint` */
    MDYN_MIMIC(ROBOTIQ_85_LEFT_INNER_KNUCKLE_JOINT, ROBOTIQ_85_FINGER_JOINT, 1, 0),
    /* mimic of joint `left_inner_finger_joint` */
    MDYN_MIMIC(ROBOTIQ_85_LEFT_INNER_FINGER_JOINT, ROBOTIQ_85_FINGER_JOINT, -1, 0),
    /* mimic of joint `right_inner_knuckle_joint` */
    MDYN_MIMIC(ROBOTIQ_85_RIGHT_INNER_KNUCKLE_JOINT, ROBOTIQ_85_FINGER_JOINT, -1, 0),
    /* mimic of joint `right_inner_finger_joint` */
    MDYN_MIMIC(ROBOTIQ_85_RIGHT_INNER_FINGER_JOINT, ROBOTIQ_85_FINGER_JOINT, 1, 0),
    /* mimic of joint `right_outer_knuckle_joint` */
    MDYN_MIMIC(ROBOTIQ_85_RIGHT_OUTER_KNUCKLE_JOINT, ROBOTIQ_85_FINGER_JOINT, -1, 0),
};

/* Start position: inside the limits, on couplings and loops,
   nearest to 0. mdyn_init sets it. */
static const mdyn_real robotiq_85_start[] = {
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
    MDYN_R(0),
};

/* bodies, couplings, gravity, dt, solver, closures, user rows, row_function, user_data, start,
   curves */
static const mdyn_model robotiq_85_model = {
    robotiq_85_bodies, ROBOTIQ_85_BODIES, robotiq_85_couplings, 5, MDYN_V3(0, 0, -9.81),
    MDYN_C(0.001), MDYN_DEFAULT_SOLVER, NULL, 0, NULL, 0, NULL, NULL, robotiq_85_start, NULL, 0,
};

#endif
